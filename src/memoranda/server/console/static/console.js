// "/" goes to the search, as in many tools; everything works without this file.
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector("input[type=search]");
    if (field) { event.preventDefault(); field.focus(); }
  }
});
// Text that was typed is not lost by a slip.
const form = document.querySelector("form[data-guarded]");
if (form) {
  let changed = false;
  form.addEventListener("input", () => { changed = true; });
  form.addEventListener("submit", () => { changed = false; });
  window.addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
}

// Every endpoint through the official TypeScript SDK, unchanged; prints what the test compares.
// node sdk.mjs ADDRESS KEY redacts|keeps, from a folder whose node_modules has the SDK.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const [, , baseURL, apiKey, redacts] = process.argv;
const client = new Anthropic({ baseURL, apiKey });
const stores = client.beta.memoryStores;

const store = await stores.create({ name: "n", metadata: { a: "1" } });
assert.equal((await stores.retrieve(store.id)).id, store.id);
assert.deepEqual((await stores.update(store.id, { metadata: { a: null, b: "2" } })).metadata, { b: "2" });

const made = await stores.memories.create(store.id, { path: "/a.md", content: "one", view: "full" });
assert.equal(made.content, "one");
const changed = await stores.memories.update(made.id, {
  memory_store_id: store.id,
  content: "two",
  precondition: { type: "content_sha256", content_sha256: made.content_sha256 },
});
assert.equal(changed.content, null);
assert.equal((await stores.memories.retrieve(made.id, { memory_store_id: store.id })).content, "two");

for (let number = 0; number < 25; number += 1) {
  await stores.memories.create(store.id, { path: `/d/${number}`, content: "" });
}
const paths = [];
for await (const each of stores.memories.list(store.id, { limit: 7 })) paths.push(each.path);
assert.equal(new Set(paths).size, 26);
const rolled = [];
for await (const each of stores.memories.list(store.id, { depth: 1 })) rolled.push(each.path);
assert.deepEqual(rolled, ["/a.md", "/d/"]);

const versions = [];
for await (const each of stores.memoryVersions.list(store.id, { memory_id: made.id, view: "full" })) {
  versions.push(each);
}
assert.deepEqual(versions.map((each) => each.content), ["two", "one"]);
const old = { memory_store_id: store.id };
if (redacts === "redacts") {
  assert.ok((await stores.memoryVersions.redact(versions[1].id, old)).redacted_at);
  assert.equal((await stores.memoryVersions.retrieve(versions[1].id, old)).content, null);
} else {
  await assert.rejects(stores.memoryVersions.redact(versions[1].id, old), Anthropic.BadRequestError);
}

await assert.rejects(stores.memories.create(store.id, { path: "/a.md/b", content: "" }), (error) => {
  assert.ok(error instanceof Anthropic.ConflictError);
  assert.equal(error.error.error.conflicting_memory_id, made.id);
  return true;
});
await assert.rejects(stores.retrieve("memstore_01none"), Anthropic.NotFoundError);
await assert.rejects(stores.create({ name: "" }), Anthropic.BadRequestError);

const gone = await stores.memories.delete(made.id, {
  memory_store_id: store.id,
  expected_content_sha256: changed.content_sha256,
});
assert.equal(gone.type, "memory_deleted");
assert.ok((await stores.archive(store.id)).archived_at);
assert.equal((await stores.delete(store.id)).type, "memory_store_deleted");
console.log("all endpoints answered");

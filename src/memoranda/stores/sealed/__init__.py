"""Contents sealed with AES-256-GCM, around the stores of any backend (``docs/formats/sealed.md``)."""

"""How well secrets are found: an invented, labelled corpus, and the figures it gives."""

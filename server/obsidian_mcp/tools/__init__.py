"""What the model sees. One module per noun; `catalogue.json` is generated from them."""

"""What the model sees. One module per noun; `catalogue.json` and `listings.json` are generated from them."""

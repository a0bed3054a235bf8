"""Arrays and calls of them: element types, layouts, the data that fills a tensor, packs."""

"""What people and programs read: lists, trees, tables and JSON documents made from the store's tables."""

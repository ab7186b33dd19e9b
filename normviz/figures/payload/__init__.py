"""The JSON data of each kind of figure, as the browser module takes it."""

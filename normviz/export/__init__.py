"""What leaves the app: HTML files, notebook output, pictures, a static site."""

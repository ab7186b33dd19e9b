"""Names in addresses that are not settings of a view. They are apart because the server looks at an address before torch is imported."""

EMBEDDING = ("embed", "embed_options")  # Streamlit's own parameters
CAMPAIGN = ("utm_", "fbclid", "gclid", "mc_")  # how parameters begin that other sites append to links

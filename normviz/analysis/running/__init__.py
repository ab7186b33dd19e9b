"""Running statistics: what BatchNorm stores, train and eval mode, and the limits that come with it."""

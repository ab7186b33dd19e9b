// An exported page with a single view.

import { mountPages } from "./mounting.js";

mountPages();

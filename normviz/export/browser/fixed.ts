// An exported page with a single view.

import { mountPages } from "./mounting.ts";

mountPages();

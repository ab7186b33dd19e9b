// An exported page in which a reader chooses among views, answered by the file or by the kernel of a notebook.

import "../../lessons/train_and_eval/training.js";
import { Live, plotlyFromWidget, watchModel } from "./live.js";
import { mountPages } from "./mounting.js";
import { Player } from "./playing.js";

mountPages({ Player, Live, plotlyFromWidget, watchModel });

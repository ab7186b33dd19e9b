// An exported page in which a reader chooses among views, answered by the file or by the kernel of a notebook.

import "../../lessons/train_and_eval/train_and_eval.ts";
import { Live, plotlyFromWidget, watchModel } from "./live.ts";
import { mountPages } from "./mounting.ts";
import { Player } from "./playing.ts";

mountPages({ Player, Live, plotlyFromWidget, watchModel });

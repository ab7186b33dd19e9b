// An exported page with steps, exercises or a training.

import "../../lessons/practice/practice.js";
import "../../lessons/start/lesson.js";
import "../../lessons/story/story.js";
import "../../lessons/train_and_eval/training.js";
import "./fixed.js";

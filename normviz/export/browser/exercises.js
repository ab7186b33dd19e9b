// An exported page with steps, exercises or a training.

import "../../lessons/browser/practice/practice.js";
import "../../lessons/browser/start/lesson.js";
import "../../lessons/browser/story/story.js";
import "../../lessons/browser/training.js";
import "./fixed.js";

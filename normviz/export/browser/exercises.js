// An exported page with steps or exercises.

import "../../lessons/browser/practice/practice.js";
import "../../lessons/browser/start/lesson.js";
import "./fixed.js";

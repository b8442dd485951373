import { describeCrashes } from './describe-crashes.js';
import { REWIND_SCENARIOS } from './scenarios.js';

describeCrashes(REWIND_SCENARIOS);

import { describeCrashes } from './describe-crashes.js';
import { SESSION_SCENARIOS } from './scenarios.js';

describeCrashes(SESSION_SCENARIOS);

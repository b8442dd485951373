import type { OnRefused, OptionalStep } from '../../fs/refused-step.js';
import type { StoreWarning } from './deps.js';

const CONSEQUENCES: Readonly<Record<OptionalStep, string>> = {
  chmod: 'files have the mode that it gives them, and others may be able to read them',
  utimes: 'a file that is brought back has a new time',
  link: 'what is kept is copied, and takes its room twice',
  'fsync of a folder': 'after a power cut the newest names may be missing',
};

let isTold = false;

/** Gives a function that warns of the first step that a file system refuses; one warning is enough for a process. */
export function tellOfRefusal(warn: (warning: StoreWarning) => void): OnRefused {
  return (step, errno) => {
    if (isTold) return;
    isTold = true;
    const message = `The file system refuses ${step} (${errno}): ${CONSEQUENCES[step]}. Everything else is done`;
    warn({ code: 'STEP_REFUSED', sessionId: undefined, message });
  };
}

/** Milliseconds that only ever rise, whatever becomes of the time of day. */
export type MonotonicClock = () => number;

/** The clock of this machine, from some moment on. It says how long something took, and never when it was. */
// biome-ignore lint/style/noRestrictedGlobals: this is where it comes in, and waiting needs no other time than real time
export const monotonicClock: MonotonicClock = () => performance.now();

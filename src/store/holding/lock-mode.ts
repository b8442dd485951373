import { type FlockWay, findFlockWays } from '../../locks/flock-way.js';

/**
 * Tells how sessions are locked here: by which of the ways to take flock, `none` where there is none (then nothing but
 * appends is done), `off` where it was declined.
 */
export async function lockMode(flock: 'auto' | 'off'): Promise<FlockWay['how'] | 'none' | 'off'> {
  if (flock === 'off') return 'off';
  const [way] = await findFlockWays();
  return way?.how ?? 'none';
}

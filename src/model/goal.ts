/** What a session is to achieve, with its budget (since Zero v0.8). Members are left out when empty or 0. */
export interface Goal {
  readonly objective: string;
  readonly status: GoalStatus;
  readonly statusReason?: string;
  /** Tokens that may be used; none when left out. */
  readonly tokenBudget?: number;
  readonly tokensUsed?: number;
  readonly continuationCount?: number;
  readonly continuationLimit?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** As in the metadata that the goal is a part of. */
  readonly exact?: Readonly<Record<string, string>>;
}

/** The statuses of a goal, spelled exactly so (FORMAT.md, 2). */
export const GOAL_STATUSES = ['active', 'paused', 'blocked', 'usage_limited', 'budget_limited', 'complete'] as const;

/** One of {@link GOAL_STATUSES}, or the text of one from another version. */
export type GoalStatus = (typeof GOAL_STATUSES)[number] | (string & {});

/** The members of a goal in the order in which they are written, and what each holds. */
export const GOAL_MEMBERS = [
  ['objective', 'text', 'always'],
  ['status', 'text', 'always'],
  ['statusReason', 'text'],
  ['tokenBudget', 'integer'],
  ['tokensUsed', 'integer'],
  ['continuationCount', 'integer'],
  ['continuationLimit', 'integer'],
  ['createdAt', 'text', 'always'],
  ['updatedAt', 'text', 'always'],
] as const;

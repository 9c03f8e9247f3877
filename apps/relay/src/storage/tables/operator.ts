import type { Micro } from "@agent/budget";

/** A change that has no number yet. SQLite and PostgreSQL number the rows as `rowid`. */
export interface QueuedEventRow {
  at: number;
  type: string;
  /** The relay that it concerns, for changes of a peer. */
  peer_id: string | null;
  /** JSON: the further members, money in USD. */
  body: string;
}

/** A change at the relay, numbered from 1 without gaps. */
export interface RelayEventRow extends QueuedEventRow {
  sequence: number;
}

export interface EventCounterRow {
  one: 1;
  last: number;
}

/** The number of tasks that ever ended in a state. */
export interface EndedTasksRow {
  state: string;
  tasks: number;
}

/** The figures of one minute, counted from the epoch; money in micro-units. */
export interface RelayMinuteRow {
  minute: number;
  submitted: number;
  completed: number;
  failed: number;
  expired: number;
  settled: Micro;
  fees: Micro;
  /** Null if no sample was taken in this minute. */
  online: number | null;
  /** JSON: a histogram of the times from submission to receipt. */
  durations: string;
}

/** A time in which an agent was online, in ms. */
export interface OnlineSpanRow {
  agent_id: string;
  since: number;
  /** The first sample that did not find it, or the last one before a gap; null while it is online. */
  until: number | null;
}

/** A period in which the relay sampled which agents were online, in ms, up to the newest sample. */
export interface OnlineWatchRow {
  since: number;
  until: number;
}

/** A task that expired; its own row is deleted. */
export interface ExpiredTaskRow {
  task_id: string;
  agent_id: string;
  submitted_by: string | null;
  expired_at: number;
  /** JSON: the task as its submitter saw it, without its prompt; `attempts` and `attempt` of its row. */
  task: string;
}

export interface TaskParentRow {
  task_id: string;
  parent_id: string;
}

/** A code that opens one console session. */
export interface ConsoleCodeRow {
  code_hash: string;
  level: "view" | "operate";
  created_by: string;
  token_tag: string;
  expires_at: number;
}

export interface ConsoleSessionRow {
  session_id: string;
  /** The SHA-256 of its cookie, in hex. */
  cookie_hash: string;
  /** The name of the operator's token that it goes back to. */
  opened_by: string;
  /** Names the token itself, so that the session ends with it. */
  token_tag: string;
  opened_at: number;
  renewed_at: number;
  /** The time until which it may act; null if it may only read. */
  operate_until: number | null;
  expires_at: number;
}

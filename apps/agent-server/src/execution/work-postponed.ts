/**
 * Thrown instead of returning a receipt if work cannot be decided now and nothing was done: a receipt would
 * be final, but the same work may be offered again.
 */
export class WorkPostponed extends Error {}

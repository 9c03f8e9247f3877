/**
 * Thrown instead of a receipt when work cannot be decided about at the moment, and nothing of it was
 * done: a receipt would be final, and the same work may be offered again.
 */
export class WorkPostponed extends Error {}

interface PeerCircuit {
  readonly state: string;
  readonly forwards?: { readonly latest: number; readonly failed: number } | undefined;
}

/** Says how the latest tasks that were forwarded to a peer went, and whether that keeps others back. */
export function describeCircuit({ state, forwards }: PeerCircuit): string {
  if (forwards === undefined || forwards.latest === 0) return "no task was forwarded lately";
  const { latest, failed } = forwards;
  const counted = `${failed} of the latest ${latest} forwarded ${latest === 1 ? "task" : "tasks"} failed`;
  const isOpen = state === "suspended" && failed * 2 > latest;
  return isOpen ? `open until its next heartbeat: ${counted}` : `closed: ${counted}`;
}

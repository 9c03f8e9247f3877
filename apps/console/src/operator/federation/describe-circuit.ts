interface PeerCircuit {
  readonly state: string;
  readonly forwards?: { readonly latest: number; readonly failed: number } | undefined;
}

/** Describes the outcomes of the latest tasks forwarded to a peer, and whether they stop further forwards. */
export function describeCircuit({ state, forwards }: PeerCircuit): string {
  if (forwards === undefined || forwards.latest === 0) return "no task was forwarded recently";
  const { latest, failed } = forwards;
  const counted = `${failed} of the latest ${latest} forwarded ${latest === 1 ? "task" : "tasks"} failed`;
  const isOpen = state === "suspended" && failed * 2 > latest;
  return isOpen ? `open until its next heartbeat: ${counted}` : `closed: ${counted}`;
}

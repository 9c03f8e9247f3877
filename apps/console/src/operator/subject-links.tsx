import { ShortId } from "../shared/components/foreign-text.tsx";
import { formatHashRoute } from "../shared/routing/hash-route.ts";

/** A task by its id, as a link to its page. */
export function TaskLink({ id }: { id: string }) {
  return <ShortId id={id} href={formatHashRoute(["tasks", id])} />;
}

/** An agent by its id, as a link; a relay's id before a peer's task links to that peer. */
export function AgentLink({ id }: { id: string | null }) {
  if (id === null) return <>the operator</>;
  const relayId = /^(?:relay|peer):(.+)$/.exec(id)?.[1];
  if (relayId !== undefined) return <PeerLink id={relayId} />;
  return <ShortId id={id} href={formatHashRoute(["agents", id])} />;
}

export function PeerLink({ id }: { id: string }) {
  return (
    <>
      relay <ShortId id={id} href={formatHashRoute(["federation", id])} />
    </>
  );
}

/** An account by the id of its owner, as a link to its statement. */
export function AccountLink({ id }: { id: string }) {
  return <ShortId id={id} href={formatHashRoute(["accounts", id])} />;
}

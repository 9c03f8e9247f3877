import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { ActDialogs } from "../shared/components/act-dialog.tsx";
import type { BodyOf } from "../shared/relay/call-relay.ts";
import { type EventFeed, openEventFeed } from "../shared/relay/event-feed.ts";
import { browserEnvironment, PageContextProvider } from "../shared/relay/page-context.ts";
import type { HashRoute } from "../shared/routing/hash-route.ts";
import { ConsoleFrame } from "./console-frame.tsx";
import { ConsoleView } from "./console-view.tsx";
import type { OperatorSession } from "./operator-session.ts";
import { SignIn, TokenForm } from "./sign-in.tsx";

/** The number of changes from before the page was opened that the overview lists. */
const SHOWN_BEFORE = 20;

/** The whole page: the sign-in form, or the frame around one view. A dialog stays open above either. */
export function ConsolePage({
  session,
  route,
  refusal,
}: {
  session: OperatorSession;
  route: ReadonlySignal<HashRoute>;
  refusal: CallRefusal | undefined;
}) {
  const isOpen = session.shown.value != null;
  const { relay, mayAct } = session;
  const context = useMemo(() => ({ relay, feed: undefined, route, mayAct }), [session, route]);
  return (
    <PageContextProvider value={context}>
      <ActDialogs renewal={<RenewalForm session={session} />}>
        {isOpen ? (
          <OpenConsole session={session} route={route} />
        ) : (
          <SignIn session={session} refusal={refusal} />
        )}
      </ActDialogs>
    </PageContextProvider>
  );
}

/** Shown inside a dialog, because the menu with the same form is not reachable while the dialog is open. */
function RenewalForm({ session }: { session: OperatorSession }) {
  return (
    <section class="renewal">
      <p class="refusal" role="status">
        {session.shown.value == null ? "The session has ended." : "This session is read-only."} To
        continue, enter the token or a new link. What you have typed stays in this dialog.
      </p>
      <TokenForm session={session} verb="Allow changes" />
    </section>
  );
}

function OpenConsole({
  session,
  route,
}: {
  session: OperatorSession;
  route: ReadonlySignal<HashRoute>;
}) {
  const feed = useEventFeed(session);
  const { relay, mayAct } = session;
  const context = useMemo(() => ({ relay, feed, route, mayAct }), [relay, feed, route, mayAct]);
  return (
    <PageContextProvider value={context}>
      <ConsoleFrame session={session}>
        <ConsoleView route={route.value} />
      </ConsoleFrame>
    </PageContextProvider>
  );
}

/** Follows the relay's events while the session is open. */
function useEventFeed(session: OperatorSession): EventFeed | undefined {
  const [feed, setFeed] = useState<EventFeed | undefined>();
  useEffect(() => {
    const stopped = new AbortController();
    const start = async () => {
      const answer = await session.relay.call("getOverview", {});
      if (stopped.signal.aborted) return;
      if (!answer.ok) return void browserEnvironment.schedule(1_000, () => void start());
      setFeed(openFeed(session, answer.body, stopped.signal));
    };
    void start();
    return () => stopped.abort();
  }, [session]);
  return feed;
}

function openFeed(
  { getToken }: OperatorSession,
  { last_event: lastEvent }: BodyOf<"getOverview">,
  signal: AbortSignal,
): EventFeed {
  return openEventFeed({
    getToken,
    lastEvent,
    signal,
    shownBefore: SHOWN_BEFORE,
    now: browserEnvironment.now,
  });
}

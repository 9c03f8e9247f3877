import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { RefusalText } from "../shared/components/answer-view.tsx";
import { ForeignLine, ShortId, TimeText } from "../shared/components/foreign-text.tsx";
import { TimeZoneNote } from "../shared/components/time-zone-note.tsx";
import { showLine } from "../shared/format/show-text.ts";
import type { BodyOf } from "../shared/relay/call-relay.ts";
import { browserEnvironment, useNow, usePageContext } from "../shared/relay/page-context.ts";
import { useAnswer } from "../shared/relay/use-answer.ts";
import { formatHashRoute } from "../shared/routing/hash-route.ts";
import { SkipLink } from "../shared/routing/skip-link.tsx";
import { ConsoleOverview } from "./console-overview.ts";
import { countNeeds } from "./overview/list-needs.ts";
import type { OperatorSession } from "./operator-session.ts";
import { TokenForm } from "./sign-in.tsx";
import { readField } from "../shared/format/read-field.ts";

type Overview = BodyOf<"getOverview">;

const LINKS = [
  ["", "Overview"],
  ["tasks", "Tasks"],
  ["agents", "Agents"],
  ["money", "Money"],
  ["federation", "Federation"],
  ["approvals", "Approvals"],
  ["disputes", "Disputes"],
  ["log", "Log"],
  ["processes", "Processes"],
  ["audit", "Audit"],
  ["freeze", "Freeze"],
] as const;

/** The frame reads the overview too, so the interval between two reads after changes is limited. */
const OVERVIEW_RULES = {
  on: ["task.", "money.", "relay.", "withdrawal.", "approval.", "peer.", "agent."],
  minMs: 4_000,
  everyMs: 30_000,
};

/** Everything around the view: the relay's name and state, the links to the views, and the session. */
export function ConsoleFrame({
  session,
  children,
}: {
  session: OperatorSession;
  children: ComponentChildren;
}) {
  const overview = useAnswer("getOverview", {}, OVERVIEW_RULES);
  const { route, feed } = usePageContext();
  const { path, query } = route.value;
  const state = feed?.state.value ?? null;
  // Without its event stream the page may show outdated data.
  const isOld = state !== null && state !== "live";
  const place = formatHashRoute(path, Object.fromEntries(query));
  return (
    <ConsoleOverview.Provider value={overview}>
      <SkipLink />
      <header class="frame">
        <div class="frame-line">
          <RelayName />
          <StatePill overview={overview.body} isOld={overview.refusal !== undefined} />
          <LiveDot />
          <FindForm />
          <ThemeButton />
          <SessionMenu session={session} />
        </div>
        <FrameLinks overview={overview.body} />
      </header>
      <main
        id="content"
        class={isOld ? "console stale" : "console"}
        tabIndex={-1}
        data-page="console"
        data-place={place}
      >
        {children}
      </main>
      <TimeZoneNote />
    </ConsoleOverview.Provider>
  );
}

function RelayName() {
  const info = useAnswer("relayInfo", {});
  if (info.body === undefined) return <strong class="relay-name">Relay</strong>;
  const { name, relay_id } = info.body;
  return (
    <span class="relay-name">
      <strong>
        <ForeignLine text={name} max={40} />
      </strong>{" "}
      <ShortId id={relay_id} />
    </span>
  );
}

/** The state in one word, so that it can be understood without colours. */
function StatePill({ overview, isOld }: { overview: Overview | undefined; isOld: boolean }) {
  if (overview === undefined) return <span class="pill">{isOld ? "not reached" : "…"}</span>;
  const { freeze, draining, jobs } = overview;
  const late = jobs.filter(({ ok }) => !ok);
  const [tone, text] = freeze.frozen
    ? ["bad", `FROZEN: ${showLine(freeze.reason ?? "no reason", 80)}`]
    : draining
      ? ["doubt", "draining"]
      : late.length > 0
        ? ["bad", `not ready: job ${late[0]?.job ?? ""}`]
        : ["good", "running"];
  return <span class={`pill ${isOld ? "" : tone}`}>{isOld ? `${text}?` : text}</span>;
}

/** Shows whether changes arrive live; after the stream was lost, shows up to which time the page is current. */
function LiveDot() {
  const { feed } = usePageContext();
  const state = feed?.state.value ?? null;
  const isLive = state === "live";
  return (
    <span class={isLive ? "live" : "live lost"} role="status" data-live={state ?? "connecting"}>
      <span class="dot" aria-hidden="true" />
      {isLive ? (
        "live"
      ) : feed?.liveAt.value == null ? (
        "connecting"
      ) : (
        <>
          live until <TimeText at={feed.liveAt.value} />, reconnecting
        </>
      )}
    </span>
  );
}

function FindForm() {
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const q = readField(new FormData(event.currentTarget), "q");
        if (q !== "") location.hash = formatHashRoute(["find"], { q });
      }}
    >
      <input type="search" name="q" aria-label="Find an id or a name" placeholder="find an id…" />
    </form>
  );
}

const THEMES = ["auto", "light", "dark"] as const;

/** Chooses the light or dark theme until the page is closed. */
function ThemeButton() {
  const [theme, setTheme] = useState<(typeof THEMES)[number]>("auto");
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        document.documentElement.dataset["theme"] = next;
        setTheme(next);
      }}
    >
      Theme: {theme}
    </button>
  );
}

function SessionMenu({ session }: { session: OperatorSession }) {
  const now = useNow(10_000);
  const shown = session.shown.value;
  const mayAct = session.mayAct.value;
  const [refusal, setRefusal] = useState<CallRefusal>();
  const leftMs = (shown?.operateUntil ?? 0) - Math.max(now, browserEnvironment.now());
  // Rounded, because the estimate of the relay's clock lags by the time that an answer takes.
  const minutes = Math.max(1, Math.round(leftMs / 60_000));
  return (
    <details class="session">
      <summary>{mayAct ? `operate ${minutes} min` : "view"}</summary>
      <div class="menu">
        <p>
          {mayAct
            ? `This session can make changes for ${minutes} more min. Then it is read-only.`
            : "This session is read-only. Enter the relay's token to make changes for 10 minutes:"}
        </p>
        {!mayAct && <TokenForm session={session} verb="Allow changes" />}
        <a href={formatHashRoute(["sessions"])}>All sessions</a>
        <button type="button" onClick={() => void session.closeSession().then(setRefusal)}>
          Sign out
        </button>
        {refusal !== undefined && (
          <>
            <RefusalText refusal={refusal} />
            <p>You are still signed in: this session could not be ended. Try again.</p>
          </>
        )}
      </div>
    </details>
  );
}

/** A relay with one process needs no link to the page of processes. */
const isLinked = (name: string, overview: Overview | undefined) =>
  name !== "processes" || (overview?.processes ?? 1) > 1;

function FrameLinks({ overview }: { overview: Overview | undefined }) {
  const [current = ""] = usePageContext().route.value.path;
  const links = LINKS.filter(([name]) => isLinked(name, overview));
  return (
    <nav class="frame-links" aria-label="Console">
      {links.map(([name, word]) => {
        const count = overview === undefined ? 0 : countNeeds(overview, name);
        return (
          <a
            key={name}
            href={formatHashRoute(name === "" ? [] : [name])}
            aria-current={current === name ? "page" : undefined}
            class={name === "freeze" ? "last" : undefined}
          >
            {name === "freeze" && overview?.freeze.frozen === true ? "Unfreeze" : word}
            {count > 0 && <b class="count"> {count}</b>}
          </a>
        );
      })}
    </nav>
  );
}

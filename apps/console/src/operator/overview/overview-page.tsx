import { AnswerView } from "../../shared/components/answer-view.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showBytes, showDuration, showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useNow } from "../../shared/relay/page-context.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { useOverview } from "../console-overview.ts";
import { BooksBox } from "./books-box.tsx";
import { EventList } from "./event-list.tsx";
import { FigureTiles } from "./figure-tiles.tsx";
import { listNeeds } from "./list-needs.ts";
import { OverviewCharts } from "./overview-charts.tsx";

/** Shows whether anything is wrong, and the relay's activity. */
export function OverviewPage() {
  const overview = useOverview();
  return (
    <>
      <ViewTitle title="Overview" />
      <AnswerView answer={overview}>
        {(body) => (
          <>
            <NeedsLine overview={body} />
            <FigureTiles overview={body} />
            <OverviewCharts />
            <div class="columns">
              <section>
                <h2>Now</h2>
                <EventList max={12} />
                <p class="hint">
                  <a href={formatHashRoute(["tasks"])}>All tasks</a>
                </p>
              </section>
              <section>
                <BooksBox overview={body} />
                <RelayFacts overview={body} />
              </section>
            </div>
          </>
        )}
      </AnswerView>
    </>
  );
}

/** The first line: the matters that need the operator's attention, or that there are none. */
function NeedsLine({ overview }: { overview: BodyOf<"getOverview"> }) {
  const needs = listNeeds(overview);
  if (needs.length === 0) return <p class="needs calm">✓ Nothing needs your attention.</p>;
  return (
    <section class="needs" aria-label="Needs your attention">
      <strong>Needs your attention</strong>
      <ul>
        {needs.map(({ text, href, isBad }) => (
          <li key={text} class={isBad ? "bad" : "doubt"}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RelayFacts({ overview }: { overview: BodyOf<"getOverview"> }) {
  const now = useNow(30_000);
  const { database, version, uptime_ms, jobs, peers, processes } = overview;
  const backup =
    database.last_backup_at === null
      ? "no backup recorded"
      : `backup ${showDuration(now - database.last_backup_at)} ago`;
  const size = database.bytes === null ? "" : `${showBytes(database.bytes)}, `;
  const peerTexts = Object.entries(peers).map(([state, count]) => `${count} ${state}`);
  return (
    <section class="box">
      <h2>This relay</h2>
      <ul class="plain">
        <li>
          version {version}, up for {showDuration(uptime_ms)}
        </li>
        <li>
          {database.in_memory
            ? "database in memory: everything is lost when the relay stops"
            : `database ${size}${backup}`}
        </li>
        {processes > 1 && (
          <li>
            <a href={formatHashRoute(["processes"])}>{processes} processes</a>
          </li>
        )}
        <li>
          {jobs.filter(({ ok }) => ok).length} of {jobs.length} jobs on time
        </li>
        <li>{peerTexts.length === 0 ? "no peers" : `peers: ${peerTexts.join(", ")}`}</li>
        <li>
          {showMoney(overview.money.fees_today)} fees today, {showMoney(overview.money.fees_total)}{" "}
          in total
        </li>
      </ul>
    </section>
  );
}

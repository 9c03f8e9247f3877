import { PageTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showCount } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { formatHashRoute, pickFilters } from "../../shared/routing/hash-route.ts";
import { useOverview } from "../console-overview.ts";
import { AgentLink } from "../subject-links.tsx";
import { describeDetail } from "../../shared/format/describe-detail.ts";
import { findSubject } from "./find-subject.ts";
import { readField } from "../../shared/format/read-field.ts";

type Entry = BodyOf<"listOperatorAudit">["entries"][number];

const entriesOf = (body: BodyOf<"listOperatorAudit">) => body.entries;

/** Lists the actions of operators, of their sessions and of agents. */
export function AuditPage() {
  const { query } = usePageContext().route.value;
  const filter = pickFilters(query, ["actor", "action"]);
  const loadPage = useListPages("listOperatorAudit", { query: filter }, entriesOf);
  return (
    <>
      <ViewTitle title="Audit" />
      <LateJobs />
      <AuditFilter />
      <PageTable
        key={JSON.stringify(filter)}
        caption="Audit"
        loadPage={loadPage}
        rules={{ on: ["relay.", "withdrawal.", "session.", "agent.", "device."] }}
        rowKey={({ at, actor, action, detail }) => `${at} ${actor} ${action} ${detail ?? ""}`}
        empty="No such action is recorded."
        tone={({ result }) => (isRefused(result) ? "doubt" : undefined)}
        columns={[
          { title: "when", cell: ({ at }) => <TimeText at={at} /> },
          { title: "actor", cell: ({ actor }) => <Actor actor={actor} /> },
          {
            title: "action",
            isWord: true,
            cell: ({ action }) => <ForeignLine text={action} max={50} />,
          },
          {
            title: "about",
            cell: (entry) => {
              const agentId = findSubject(entry);
              return agentId === undefined ? "the relay" : <AgentLink id={agentId} />;
            },
          },
          {
            title: "detail",
            cell: ({ detail }) =>
              detail === null ? "–" : <ForeignLine text={describeDetail(detail)} max={160} />,
          },
          { title: "answer", cell: ({ result }) => describeResult(result) },
        ]}
      />
    </>
  );
}

const DONE = /^2\d\d( repeated)?$/;

const isRefused = (result: Entry["result"]) =>
  result === null || (result !== undefined && !DONE.test(result));

function describeResult(result: Entry["result"]): string {
  if (result === undefined) return "–";
  if (result === null) return "none: the relay stopped before it answered";
  if (result.endsWith(" repeated")) return "already done before, so nothing changed";
  return DONE.test(result) ? "done" : result;
}

/** Sessions and tokens are operators; all others are agents. */
function Actor({ actor }: { actor: string }) {
  if (!/^(operator|session|anonymous)/.test(actor)) return <AgentLink id={actor} />;
  const session = /^session:(.+)$/.exec(actor)?.[1];
  return (
    <a href={formatHashRoute(["audit"], { actor })}>
      {session === undefined ? actor : `session …${session.slice(-8)}`}
    </a>
  );
}

function AuditFilter() {
  const { query } = usePageContext().route.value;
  return (
    <form
      key={query.toString()}
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const textOf = (name: string) => readField(given, name);
        const filter = { actor: textOf("actor"), action: textOf("action") };
        location.hash = formatHashRoute(["audit"], filter);
      }}
    >
      <label>
        Actor <input type="search" name="actor" defaultValue={query.get("actor") ?? ""} />
      </label>
      <label>
        Action <input type="search" name="action" defaultValue={query.get("action") ?? ""} />
      </label>
      <button type="submit">Filter</button>
    </form>
  );
}

/** Shows late and failing jobs, because an operator who searches for a fault reads the audit. */
function LateJobs() {
  const late = (useOverview().body?.jobs ?? []).filter(({ ok }) => !ok);
  if (late.length === 0) return null;
  return (
    <ul class="checks">
      {late.map(({ job, failures, age_ms }) => (
        <li key={job} class="fails">
          ✗ The job <b>{job}</b> last finished {Math.round(age_ms / 1_000)} s ago,{" "}
          {showCount(failures, "failure")}.
        </li>
      ))}
    </ul>
  );
}

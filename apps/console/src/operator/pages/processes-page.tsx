import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

type Process = BodyOf<"listProcesses">["processes"][number];

const REFRESH_MS = 5_000;

/** The processes of this relay: which one leads, which are alive, and which clients are connected to each. */
export function ProcessesPage() {
  const answer = useAnswer("listProcesses", {}, { everyMs: REFRESH_MS });
  return (
    <>
      <ViewTitle title="Processes" />
      <p class="hint">
        The processes share one database and one identity. One of them leads: it does the work that
        must be done once. If it stops, another one takes over within 10 s.
      </p>
      <AnswerView answer={answer}>
        {({ processes }) => (
          <>
            <VersionsNote processes={processes} />
            <RowTable
              caption="Processes"
              rows={processes}
              rowKey={({ process_id }) => process_id ?? "only"}
              empty="No process is recorded, so the database has just been lost or restored."
              tone={({ alive }) => (alive ? undefined : "bad")}
              columns={[
                { title: "name", cell: ({ name }) => <ForeignLine text={name} max={60} /> },
                {
                  title: "process",
                  cell: ({ process_id }) =>
                    process_id === null ? "the only one" : <ShortId id={process_id} />,
                },
                { title: "state", cell: (process) => <ProcessState process={process} /> },
                { title: "version", cell: ({ version }) => version },
                { title: "agents connected", isNumber: true, cell: ({ agents }) => agents },
                { title: "started", cell: ({ started_at }) => <TimeText at={started_at} /> },
                {
                  title: "last seen",
                  cell: ({ renewed_at }) => <TimeText at={renewed_at} />,
                },
              ]}
            />
          </>
        )}
      </AnswerView>
    </>
  );
}

/** Processes of two versions mean that an upgrade is still in progress. */
function VersionsNote({ processes }: { processes: readonly Process[] }) {
  const versions = new Set(processes.filter(({ alive }) => alive).map(({ version }) => version));
  if (versions.size < 2) return null;
  return (
    <p class="doubt">
      Versions {[...versions].join(" and ")} run at the same time: an upgrade is not finished.
    </p>
  );
}

function ProcessState({ process: { alive, leads, answers } }: { process: Process }) {
  if (!alive) return <span class="bad">stopped unexpectedly</span>;
  return (
    <span class="good">
      {leads ? "leads" : "follows"}
      {answers && ", answered this request"}
    </span>
  );
}

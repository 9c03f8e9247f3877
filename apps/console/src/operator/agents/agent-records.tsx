import { PageTable, type TableColumn } from "../../shared/components/page-table.tsx";
import { ForeignLine, TimeText } from "../../shared/components/foreign-text.tsx";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { describeDetail } from "../../shared/format/describe-detail.ts";
import { AgentLink } from "../subject-links.tsx";

type TrustRecord = BodyOf<"listTrust">["records"][number];

const recordsOf = (body: BodyOf<"listTrust">) => body.records;
const credentialsOf = (body: BodyOf<"listCredentials">) => body.credentials;
const entriesOf = (body: BodyOf<"listAudit">) => body.entries;

interface OfAgent {
  readonly agentId: string;
}

const toneOfTrust = ({ trust_level }: TrustRecord) =>
  trust_level === "blocked" ? "bad" : undefined;

const trustColumns: readonly TableColumn<TrustRecord>[] = [
  { title: "level", cell: ({ trust_level }) => trust_level.replace("_", " ") },
  { title: "done", isNumber: true, cell: ({ successful_tasks }) => successful_tasks },
  { title: "failed", isNumber: true, cell: ({ failed_tasks }) => failed_tasks },
  { title: "last seen", cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
];

/** The agents that it delegated to, and its trust in them. */
export function AgentTrust({ agentId }: OfAgent) {
  return (
    <TrustTable
      title="Trust that it gives"
      caption="Trust"
      loadPage={useListPages("listTrust", { params: { agentId } }, recordsOf)}
      getOther={({ remote_agent_id }) => remote_agent_id}
      empty="It has delegated to no agent yet."
    />
  );
}

/** The agents that delegated to it, and their trust in it. */
export function AgentTrustReceived({ agentId }: OfAgent) {
  return (
    <TrustTable
      title="Trust that it receives"
      caption="Trust received"
      loadPage={useListPages("listTrustReceived", { params: { agentId } }, recordsOf)}
      getOther={({ agent_id }) => agent_id}
      empty="No agent has delegated to it yet."
    />
  );
}

interface TrustTableProps {
  readonly title: string;
  readonly caption: string;
  readonly loadPage: ReturnType<typeof useListPages<"listTrust", TrustRecord>>;
  /** Returns the other agent of a record. */
  readonly getOther: (record: TrustRecord) => string;
  readonly empty: string;
}

function TrustTable({ title, getOther, ...table }: TrustTableProps) {
  return (
    <section class="box">
      <h2>{title}</h2>
      <PageTable
        {...table}
        rowKey={getOther}
        tone={toneOfTrust}
        columns={[
          { title: "agent", cell: (record) => <AgentLink id={getOther(record)} /> },
          ...trustColumns,
        ]}
      />
    </section>
  );
}

/** Lists the credentials that others signed about the agent; without any, the relay refuses the list as not found. */
export function AgentCredentials({ agentId, count }: OfAgent & { readonly count: number }) {
  return (
    <section class="box">
      <h2>Credentials</h2>
      {count === 0 ? (
        <p class="empty">It has no credentials.</p>
      ) : (
        <CredentialTable agentId={agentId} />
      )}
    </section>
  );
}

function CredentialTable({ agentId }: OfAgent) {
  const loadPage = useListPages("listCredentials", { params: { agentId } }, credentialsOf);
  return (
    <PageTable
      caption="Credentials"
      loadPage={loadPage}
      rowKey={({ credential_id }) => credential_id}
      empty="It has no credentials."
      tone={({ revoked }) => (revoked ? "bad" : undefined)}
      columns={[
        { title: "type", cell: ({ type }) => <ForeignLine text={type} max={60} /> },
        { title: "issued", cell: ({ issued_at }) => <TimeText at={issued_at} /> },
        { title: "state", cell: ({ revoked }) => (revoked ? "revoked" : "in force") },
      ]}
    />
  );
}

/** Every change of its keys, devices, listing and money, with the author of the change. */
export function AgentAudit({ agentId }: OfAgent) {
  const loadPage = useListPages("listAudit", { params: { agentId } }, entriesOf);
  return (
    <section class="box">
      <h2>Audit</h2>
      <PageTable
        caption="Audit of this agent"
        loadPage={loadPage}
        rowKey={({ sequence }) => sequence}
        empty="No action is recorded."
        columns={[
          { title: "when", cell: ({ at }) => <TimeText at={at} /> },
          {
            title: "actor",
            cell: ({ actor }) =>
              /^(operator|session|anonymous)/.test(actor) ? actor : <AgentLink id={actor} />,
          },
          { title: "action", cell: ({ action }) => action.replaceAll(/[._]/g, " ") },
          {
            title: "detail",
            cell: ({ detail }) =>
              detail === null ? "–" : <ForeignLine text={describeDetail(detail)} max={80} />,
          },
        ]}
      />
    </section>
  );
}

import { FilterLinks } from "../../shared/components/filter-links.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showDuration } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { useNow, usePageContext } from "../../shared/relay/page-context.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink } from "../subject-links.tsx";

type Approval = BodyOf<"listAllApprovals">["approvals"][number];

const approvalsOf = (body: BodyOf<"listAllApprovals">) => body.approvals;

const STATES = [
  ["", "all"],
  ["pending", "waiting for votes"],
  ["approved", "approved"],
  ["denied", "denied"],
  ["used", "used"],
] as const;

/** Calls that wait for a quorum. Approvers sign the votes, so the operator can only read this page. */
export function ApprovalsPage() {
  const { query } = usePageContext().route.value;
  const status = query.get("status") ?? "";
  const filter = status === "" ? {} : { status };
  const loadPage = useListPages("listAllApprovals", { query: filter }, approvalsOf);
  return (
    <>
      <ViewTitle title="Approvals" />
      <p class="hint">
        Approvers vote with their own keys. The operator sees the votes but cannot vote.
      </p>
      <FilterLinks name="status" label="State" choices={STATES} />
      <PageTable
        key={status}
        caption="Approvals"
        loadPage={loadPage}
        rules={{ on: ["approval."] }}
        rowKey={({ approval_id }) => approval_id}
        empty="No approval is in this state."
        columns={[
          { title: "requested", cell: ({ created_at }) => <TimeText at={created_at} /> },
          { title: "by", cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
          { title: "tool", cell: ({ tool_name }) => <ForeignLine text={tool_name} /> },
          { title: "arguments", cell: ({ args_hash }) => <ShortId id={args_hash} /> },
          { title: "state", cell: ({ status: state }) => <StateWord state={state} /> },
          { title: "votes", cell: (approval) => <Votes approval={approval} /> },
          { title: "waiting time", cell: (approval) => <WaitingTime approval={approval} /> },
        ]}
      />
    </>
  );
}

function Votes({ approval: { votes, quorum_required, quorum_approvers } }: { approval: Approval }) {
  const approving = votes.filter(({ decision }) => decision === "approve").length;
  return (
    <>
      {approving} of {quorum_required} needed; {quorum_approvers.length} may vote
      {votes.map(({ approver_id, decision }) => (
        <span key={approver_id} class={decision === "approve" ? "good" : "bad"}>
          {" "}
          {decision === "approve" ? "✓" : "✗"} <AgentLink id={approver_id} />
        </span>
      ))}
    </>
  );
}

function WaitingTime({ approval: { created_at, resolved_at } }: { approval: Approval }) {
  const now = useNow(10_000);
  return <>{showDuration((resolved_at ?? now) - created_at)}</>;
}

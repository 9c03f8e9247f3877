/** The arguments of a call that an agent shows its approvers, until they have decided. */
export const approvalArguments = {
  id: "049-approval-arguments",
  sql: `
ALTER TABLE approvals ADD COLUMN arguments TEXT;
CREATE INDEX approvals_with_arguments ON approvals (created_at) WHERE arguments IS NOT NULL;
`,
};

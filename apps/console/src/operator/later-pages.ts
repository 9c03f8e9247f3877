/** The seldom used pages, which the console loads all together when one of them is first opened. */
export { ApprovalsPage } from "./pages/approvals-page.tsx";
export { AuditPage } from "./pages/audit-page.tsx";
export { DisputesPage } from "./pages/disputes-page.tsx";
export { FederationPage } from "./federation/federation-page.tsx";
export { FindPage } from "./pages/find-page.tsx";
export { LogPage } from "./pages/log-page.tsx";
export { PeerPage } from "./federation/peer-page.tsx";
export { ProcessesPage } from "./pages/processes-page.tsx";
export { SessionsPage } from "./pages/sessions-page.tsx";
export { StatementPage } from "./money/statement-page.tsx";

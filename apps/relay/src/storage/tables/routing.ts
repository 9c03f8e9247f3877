export interface RoutingDecisionRow {
  task_id: string;
  /** JSON. */
  record: string;
}

/** The tables that a restore empties, because a console session may have been revoked since the backup. */
export const TABLES_ENDED_BY_RESTORE = ["console_codes", "console_sessions"] as const;

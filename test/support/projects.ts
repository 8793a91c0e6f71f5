/** The browser tests, which have a configuration of their own. */
export const BROWSER = ["test/browser/**"];

/**
 * The browser tests of what few people meet, or seldom: an identity provider, a passkey, a past day, a
 * suspended organization, hundreds of devices, a policy or a channel that is set up once, the summary
 * for the board, a table for an import that leaves questions, hostile text, and how all pages look in
 * many sizes.
 */
export const SELDOM = [
	"test/browser/{account,passkeys,password,session-limits}.test.ts",
	"test/browser/{connect-app,organization-provider,provider,saml,settings-sign-in}.test.ts",
	"test/browser/{past,past-devices,past-records,proof,reports-past,reports-from-replica,snapshots}.test.ts",
	"test/browser/{audit-package,board-summary,closed-organization,organization-export,settings-audit-verify}.test.ts",
	"test/browser/{claimed-devices,compliant-by-exception,device-groups,device-not-reporting}.test.ts",
	"test/browser/devices-{looks,many,one-selected,replace,rollout,silent,unnamed}.test.ts",
	"test/browser/{enrollment-commands,fleet-in-period}.test.ts",
	"test/browser/settings-{device-policy,group-policies,notifications}.test.ts",
	"test/browser/{csv-preview,csv-values,import-workbook}.test.ts",
	"test/browser/{copied-sign-link,documents-export,undecided-risks,vendor-reviews}.test.ts",
	"test/browser/{accessibility,axe,record-list-filters,stored-xss}.test.ts",
	"test/browser/{dialogs,home-empty,leave-guard,report-files,requests,review-dates,settings-old-tokens}.test.ts",
];

/**
 * The test files that mostly start programs, threads or database servers of their own, or build the
 * schema from nothing. They need half of the time of all tests, and few changes concern them.
 */
export const PROCESSES = [
	"test/agent/{build,check-requests,in-child,program,program-install,run,system-host}.test.ts",
	"test/archive/*.test.ts",
	"test/backup/*.test.ts",
	"test/cli/*.test.ts",
	"test/db/{embedded*,failover,migrate,migration-log,missing-database,older-processes,outage,own-roles,pool-login,postgres-tls-server,read-replica,replicas}.test.ts",
	"test/demo/*.test.ts",
	"test/deploy/sbom.test.ts",
	"test/http/redaction.test.ts",
	"test/load/outage-log.test.ts",
	"test/{mcp,oauth}/conformance.test.ts",
	"test/metrics/*.test.ts",
	"test/release/compiled-code.test.ts",
	"test/retention/delete-organizations.test.ts",
	"test/support/failed-files.test.ts",
	"test/tracing/*.test.ts",
];

/**
 * The test files that try every operation, register, statement or order of a list, that send random
 * or hostile input, a flood or as much as a limit allows, or that mostly wait. A file that tests what
 * one thing does is none of them.
 */
export const EXHAUSTIVE = [
	"test/agent/{*-hostile,updates}.test.ts",
	"test/audit-package/most-files.test.ts",
	"test/console/{rich-text-random,workbook-bombs}.test.ts",
	"test/csv/{concurrent-exports,export-every-list,import-answer,import-registers,table-limits}.test.ts",
	"test/db/{enforce-limit,locked-rows,migration-locks,statements,tenancy-records}.test.ts",
	"test/devices/{check-state-counts,device-limits,enrollment-key-floods,first-reports,large-fleet-upkeep,posture-history-random,queues,silences-random,unknown-keys}.test.ts",
	"test/http/{agent-api-body-limit,agent-api-fuzz,agent-api-large-reports,all-doors-fuzz,body-budgets,slow-export-rights,slow-exports}.test.ts",
	"test/load/{fair-shares,long-turn,overload,sign-in-queue}.test.ts",
	"test/organizations/{closed-operations,invite-most,narrow-memberships,silent-name-server}.test.ts",
	"test/policy/{permissions,random-*,regular-expressions}.test.ts",
	"test/records/{add-every-register,contradicting-orders,list-answers,list-plans,lists,open-first,past-lists,past-statements,query,reassign-most,rejected,rejected-lists,returned-records,typing-mistakes-random}.test.ts",
	"test/registers/fields.test.ts",
	"test/scim/filter-random.test.ts",
	"test/tokens/{scopes,usage}.test.ts",
];

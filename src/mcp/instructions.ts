/** How the tools go together; clients show it to their model once. At most 2 KB. */
export const INSTRUCTIONS = `Assay keeps an organization's compliance records: risks, measures, frameworks and their controls, vendors, people, assets, data, nonconformities, obligations, audits, tasks, continual improvements, and the security posture of its devices.

Begin with listOrganizations: nearly every other tool needs an organization_id from it. A record's own id already says which organization it belongs to, so get, update and delete take the id alone.

For each kind there are list, get, add, update and delete (listRisks, getRisk …). Lists come in pages: size is 20 unless given and at most 100; pass next_cursor back as cursor, with the same order_by and filter, until it is null. Every list takes filter.query for words in its text; searchRecords looks in all kinds at once. Narrow with filters rather than reading all pages.

update changes only the fields given; null empties one that may be empty. delete is for administrators and cannot be undone; a record that others need is not deleted, and the error says which. Names of people, owners and other references are ids: look them up first (listPeople, listFrameworks …). linkRecords ties records together, such as the measures that treat a risk; listLinkedRecords shows what is tied.

listPostureSummary counts the fleet by check (a silent device is stale, never passing), listDevices finds those that fail one, listDevicePostures tells a device's history, with as_of its state at a time. addDevice answers an enrollment token, once.

Risk scores are likelihood times impact, 1 to 5 each, inherent before and residual after treatment; Assay computes them. Dates are YYYY-MM-DD, times RFC 3339 in UTC, ids 32 characters and case-sensitive.

Everything happens with the rights of the token's user: viewers read, members also add and update, administrators also delete. "permission denied" means the role does not reach, or the organization is none of the user's: do not retry. An error names each field at fault and what is allowed: correct it and call again. listAuditLog has every change.`;

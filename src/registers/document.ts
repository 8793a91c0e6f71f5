import { z } from "zod";
import {
	LACKS_SIGNATURES,
	SIGN_WITHIN_DAYS,
} from "../documents/late-signatures.ts";
import { findLostApprovers } from "../documents/lost-approvers.ts";
import { archivedField } from "../records/archived-field.ts";
import {
	optionalDate,
	optionalInteger,
	optionalText,
	owner,
	references,
	requiredChoice,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";
import { described } from "../records/shown-in-tool-list.ts";

const latest = (status: string) => `(
	select v.version_number from document_versions v
	where v.organization_id = t.organization_id and v.document_id = t.id and v.status ${status}
	order by v.version_number desc limit 1
)`;

export const document = recordKind({
	kind: "document",
	table: "documents",
	tool: { one: "Document", many: "Documents" },
	key: { one: "document", many: "documents" },
	noun: "document",
	nouns: "documents",
	help: "A document is a policy, a procedure or another text that people approve and sign.",
	description:
		"A document, such as a policy. Its text lies in versions (listDocumentVersions), of which one at a time is open: a draft or one that waits for approval.",
	title: "title",
	beside: ["document_type", "owner_id"],
	isLinkable: true,
	fields: {
		title: requiredName("Title"),
		document_type: requiredChoice(
			["OTHER", "ISMS", "POLICY", "PROCEDURE"],
			"What it is; ISMS describes the management system itself",
		),
		classification: requiredChoice(
			["PUBLIC", "INTERNAL", "CONFIDENTIAL", "SECRET"],
			"Who may read it",
		),
		description: optionalText("What it rules, and for whom"),
		owner_id: owner(),
		approver_ids: references(
			"people",
			{ table: "document_approvers", column: "person_id", of: "people" },
			"People who approve each version, all of them",
		),
		review_interval_months: optionalInteger(
			1,
			120,
			"Months between two reviews; publishing a version sets the next one",
		),
		next_review_on: optionalDate("Date of the next review"),
		archived_at: archivedField(),
	},
	derived: {
		published_version: {
			sql: latest("= 'PUBLISHED'"),
			output: z
				.int()
				.nullable()
				.describe("Number of the version in force, if there is one"),
			isBrief: true,
		},
		open_version: {
			sql: `(
				select jsonb_build_object('id', v.id, 'version_number', v.version_number, 'status', v.status)
				from document_versions v
				where v.organization_id = t.organization_id and v.document_id = t.id and v.status <> 'PUBLISHED'
			)`,
			output: z
				.object({
					id: z.string(),
					version_number: z.int(),
					status: z.enum(["DRAFT", "PENDING_APPROVAL"]),
				})
				.nullable()
				.describe("The version that is not published yet"),
			isBrief: true,
		},
	},
	brief: ["title", "document_type", "owner_id", "next_review_on"],
	orders: {
		title: byText("title"),
		next_review_on: byDate("next_review_on"),
	},
	filters: ["document_type", "classification", "owner_id"],
	otherFilters: {
		lacks_signatures: {
			schema: z
				.boolean()
				.meta(
					described(
						`People have been asked to sign for more than ${SIGN_WITHIN_DAYS} days`,
						"nothing",
					),
				),
			sql: (parameter) => `${LACKS_SIGNATURES} = ${parameter}`,
			flag: { true: LACKS_SIGNATURES, false: `not ${LACKS_SIGNATURES}` },
		},
	},
	reminders: ["next_review_on"],
	reserved: findLostApprovers,
});

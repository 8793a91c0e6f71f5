import { z } from "zod";
import { archivedField } from "../records/archived-field.ts";
import {
	optionalDate,
	optionalText,
	optionalUrl,
	owner,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";

/** The file of a piece of evidence, as results describe it. */
export const evidenceFile = z.object({
	file_name: z.string(),
	content_type: z.string(),
	size_bytes: z.int(),
	sha256: z.string(),
	uploaded_by: z.string(),
	uploaded_at: z.string(),
	has_content: z
		.boolean()
		.describe("False: a restored backup left the contents of files out"),
});

export const evidence = recordKind({
	kind: "evidence",
	table: "evidence",
	tool: { one: "Evidence", many: "Evidence" },
	key: { one: "evidence", many: "evidence" },
	noun: "piece of evidence",
	nouns: "evidence",
	help: "Evidence shows that something is done. It is a file, a link or a text, tied to the records that it is about.",
	description:
		"Evidence is a link (url), a text (description) or a file, linked to the records that it is about. POST /api/files stores a file with its evidence.",
	title: "name",
	beside: ["valid_until", "owner_id"],
	isLinkable: true,
	fields: {
		name: requiredName("What it shows"),
		description: optionalText("Where it comes from and what it proves"),
		url: optionalUrl("Address, if it lies elsewhere"),
		valid_until: optionalDate("Last day on which it counts"),
		owner_id: owner(),
		archived_at: archivedField(),
	},
	derived: {
		file: {
			sql: `(
				select jsonb_build_object(
					'file_name', f.file_name, 'content_type', f.content_type,
					'size_bytes', c.size_bytes, 'sha256', encode(f.sha256, 'hex'),
					'uploaded_by', f.uploaded_by_name, 'uploaded_at', f.created_at,
					'has_content', exists (
						select from file_chunks k
						where k.organization_id = f.organization_id and k.sha256 = f.sha256 and k.place = 0
					)
				)
				from evidence_files f
				join file_contents c on c.organization_id = f.organization_id and c.sha256 = f.sha256
				where f.organization_id = t.organization_id and f.evidence_id = t.id
			)`,
			output: evidenceFile.nullable().describe("Its file, if it has one"),
			isBrief: true,
		},
	},
	brief: ["name", "url", "valid_until", "owner_id"],
	orders: { name: byText("name"), valid_until: byDate("valid_until") },
	filters: ["owner_id"],
	reminders: ["valid_until"],
});

import type { FieldDescription, KindDescription } from "./kind-description.ts";
import { type FieldName, fieldOf } from "./kinds.ts";
import type { RegisterKind } from "./register-kinds.ts";
import {
	LAST_CHANGED,
	type ListOrder,
	NEWEST,
	OPEN_FIRST,
} from "./register-orders.ts";

/** The layout of one register. Fields that it does not name come last. */
export interface Layout<Name extends string = string> {
	/** The columns of the list. The first one links to the record. */
	columns: readonly Name[];
	/** The order of the list if the address names none. */
	order: ListOrder<Name | "open_first" | "created_at">;
	/** The sections of the form and of the record's page. */
	sections: readonly Section<Name>[];
}

export interface Section<Name extends string = string> {
	title: string;
	fields: readonly Name[];
}

const layouts: { [Kind in RegisterKind]: Layout<FieldName<Kind>> } = {
	document: {
		columns: [
			"title",
			"document_type",
			"classification",
			"next_review_on",
			"owner_id",
			"updated_at",
		],
		order: NEWEST,
		sections: [
			{
				title: "Document",
				fields: [
					"title",
					"document_type",
					"classification",
					"owner_id",
					"description",
				],
			},
			{
				title: "Approval and review",
				fields: ["approver_ids", "review_interval_months", "next_review_on"],
			},
		],
	},
	risk: {
		columns: [
			"name",
			"inherent_risk_score",
			"residual_risk_score",
			"category",
			"treatment",
			"owner_id",
			"updated_at",
		],
		order: { field: "residual_risk_score", direction: "desc" },
		sections: [
			{
				title: "Risk",
				fields: [
					"name",
					"category",
					"owner_id",
					"treatment",
					"description",
					"note",
				],
			},
			{
				title: "Inherent risk, before treatment",
				fields: [
					"inherent_likelihood",
					"inherent_impact",
					"inherent_risk_score",
				],
			},
			{
				title: "Residual risk, after treatment",
				fields: [
					"residual_likelihood",
					"residual_impact",
					"residual_risk_score",
				],
			},
		],
	},
	measure: {
		columns: ["name", "category", "state", "owner_id", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Measure",
				fields: ["name", "category", "state", "owner_id", "description"],
			},
			{
				title: "Verification by devices",
				fields: ["verified_by_check", "verified_by_percent"],
			},
		],
	},
	framework: {
		columns: ["name", "version", "description", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{ title: "Framework", fields: ["name", "version", "description"] },
		],
	},
	control: {
		columns: ["name", "section_title", "framework_id", "status", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Control",
				fields: [
					"name",
					"section_title",
					"framework_id",
					"tested_by_checks",
					"description",
				],
			},
			{
				title: "Applicability",
				fields: [
					"status",
					"inclusion_justification",
					"exclusion_justification",
				],
			},
		],
	},
	evidence: {
		columns: ["name", "valid_until", "owner_id", "url", "updated_at"],
		order: NEWEST,
		sections: [
			{
				title: "Evidence",
				fields: ["name", "owner_id", "valid_until", "url", "description"],
			},
		],
	},
	vendor: {
		columns: [
			"name",
			"category",
			"risk_rating",
			"next_review_date",
			"owner_id",
			"updated_at",
		],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Vendor",
				fields: ["name", "category", "owner_id", "description"],
			},
			{
				title: "Review",
				fields: ["risk_rating", "last_review_date", "next_review_date"],
			},
			{
				title: "Contract",
				fields: [
					"contract_start_date",
					"contract_end_date",
					"renewal_notice_date",
					"agreement_status",
					"agreement_signed_on",
					"services",
				],
			},
			{
				title: "Company and data",
				fields: [
					"legal_name",
					"countries",
					"certifications",
					"data_categories",
					"subprocessors",
					"contacts",
				],
			},
			{
				title: "Web links",
				fields: [
					"website_url",
					"privacy_policy_url",
					"dpa_url",
					"security_page_url",
					"status_page_url",
				],
			},
		],
	},
	people: {
		columns: [
			"full_name",
			"primary_email_address",
			"kind",
			"position",
			"contract_end_date",
		],
		order: { field: "full_name", direction: "asc" },
		sections: [
			{ title: "Person", fields: ["full_name", "kind", "position"] },
			{
				title: "Contact",
				fields: ["primary_email_address", "additional_email_addresses"],
			},
			{
				title: "Contract",
				fields: ["contract_start_date", "contract_end_date"],
			},
		],
	},
	nonconformity: {
		columns: ["reference_id", "severity", "status", "owner_id", "due_date"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "What was found",
				fields: [
					"reference_id",
					"title",
					"severity",
					"audit_id",
					"date_identified",
					"description",
				],
			},
			{
				title: "Cause and correction",
				fields: ["root_cause", "corrective_action", "effectiveness_check"],
			},
			{ title: "Follow-up", fields: ["status", "owner_id", "due_date"] },
		],
	},
	obligation: {
		columns: [
			"requirement",
			"source",
			"type",
			"status",
			"owner_id",
			"due_date",
		],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Obligation",
				fields: ["requirement", "type", "source", "area", "regulator"],
			},
			{
				title: "Fulfillment",
				fields: [
					"status",
					"owner_id",
					"due_date",
					"last_review_date",
					"next_review_date",
					"actions_to_be_implemented",
				],
			},
		],
	},
	audit: {
		columns: ["name", "framework_id", "state", "valid_from", "valid_until"],
		order: NEWEST,
		sections: [
			{
				title: "Audit",
				fields: ["name", "framework_id", "state", "valid_from", "valid_until"],
			},
		],
	},
	asset: {
		columns: ["name", "asset_type", "amount", "owner_id", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Asset",
				fields: [
					"name",
					"asset_type",
					"amount",
					"owner_id",
					"vendor_ids",
					"data_types_stored",
				],
			},
		],
	},
	datum: {
		columns: [
			"name",
			"data_classification",
			"owner_id",
			"vendor_ids",
			"updated_at",
		],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Data type",
				fields: ["name", "data_classification", "owner_id", "vendor_ids"],
			},
		],
	},
	task: {
		columns: ["name", "state", "priority", "assigned_to_id", "deadline"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Task",
				fields: [
					"name",
					"state",
					"priority",
					"assigned_to_id",
					"deadline",
					"measure_id",
					"description",
				],
			},
		],
	},
	continual_improvement: {
		columns: ["reference_id", "status", "priority", "owner_id", "target_date"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Improvement",
				fields: ["reference_id", "source", "description"],
			},
			{
				title: "Follow-up",
				fields: ["status", "priority", "owner_id", "target_date"],
			},
		],
	},
};

export function layoutOf(kind: RegisterKind): Layout {
	return layouts[kind];
}

/**
 * Returns the order of a list if the address names none. A list of finished work alone has the one
 * that was finished last on top. An earlier due date says nothing about it.
 */
export function usualOrder(
	{ kind, done }: KindDescription,
	filters: Readonly<Record<string, unknown>>,
): ListOrder {
	const isDoneOnly =
		done && (filters[done.field] === done.value || filters.is_open === false);
	return isDoneOnly ? LAST_CHANGED : layoutOf(kind).order;
}

/** The field without which another field means nothing. */
const MEANT_BY: Readonly<Record<string, string>> = {
	verified_by_percent: "verified_by_check",
};

/**
 * Returns whether a field means something in a record. For example, the wanted pass rate means
 * nothing if no check is chosen: "100%" would read as if the measure were verified.
 */
export function isMeaningful(
	name: string,
	record: Readonly<Record<string, unknown>>,
): boolean {
	const other = MEANT_BY[name];
	return other === undefined || Boolean(record[other]);
}

/**
 * Returns the sections with their fields. Fields that the layout does not name come in the last
 * section.
 */
export function sectionsOf(
	kind: KindDescription,
): { title: string; fields: FieldDescription[] }[] {
	const { sections } = layoutOf(kind.kind);
	// The heading says whether a record is archived.
	const placed = new Set([
		...sections.flatMap(({ fields }) => fields),
		"archived_at",
	]);
	const rest = kind.fields.filter(({ name }) => !placed.has(name));
	return [
		...sections.map(({ title, fields }) => ({
			title,
			fields: fields.flatMap((name) => fieldOf(kind, name) ?? []),
		})),
		...(rest.length > 0 ? [{ title: "More", fields: rest }] : []),
	];
}

/**
 * The type of a field, as in the contract's table of record kinds. A question mark means that null
 * is permitted. A list of values is an enum.
 */
type Type =
	| "name"
	| "text"
	| "required text"
	| "url"
	| "email"
	| "start date"
	| "end date"
	| "datetime"
	| "1-5"
	| "amount"
	| "reference id"
	| "people"
	| "framework"
	| "measure"
	| "audit"
	| "vendors"
	| "emails"
	| "names"
	| "countries"
	| "check"
	| "checks"
	| "percent";

export interface Sample {
	kind: string;
	/** The word for one record in the names of operations and in results. */
	one: string;
	many: string;
	key: string;
	keys: string;
	table: string;
	fields: Record<string, Type | `${Type}?` | string[]>;
	required: string[];
	/** The values of a record that was created without giving other fields. */
	defaults: Record<string, unknown>;
	/** Fields that change when another field changes, although the call does not contain them. */
	follows?: Record<string, string>;
	/** The orders of a list, in addition to created_at and updated_at. */
	orders: string[];
	/** The fields by whose value a list can be filtered. */
	filters: string[];
	/** Filters that do not compare with the value of a field. */
	otherFilters?: string[];
	/** The text fields in which a query searches. */
	searched: string[];
}

// The samples are written by hand from the contract and not derived from the definitions, so that
// the tests find a wrong definition.
export const samples: Sample[] = [
	{
		kind: "risk",
		one: "Risk",
		many: "Risks",
		key: "risk",
		keys: "risks",
		table: "risks",
		fields: {
			name: "name",
			description: "text?",
			category: "name",
			treatment: ["MITIGATED", "ACCEPTED", "AVOIDED", "TRANSFERRED"],
			inherent_likelihood: "1-5",
			inherent_impact: "1-5",
			residual_likelihood: "1-5",
			residual_impact: "1-5",
			note: "text?",
			owner_id: "people?",
		},
		required: [
			"name",
			"category",
			"treatment",
			"inherent_likelihood",
			"inherent_impact",
		],
		// The score is 3 times 3, the first sample values of a likelihood and an impact.
		defaults: {
			description: null,
			residual_likelihood: 3,
			residual_impact: 3,
			inherent_risk_score: 9,
			residual_risk_score: 9,
			note: null,
			owner_id: null,
		},
		follows: {
			inherent_likelihood: "inherent_risk_score",
			inherent_impact: "inherent_risk_score",
			residual_likelihood: "residual_risk_score",
			residual_impact: "residual_risk_score",
		},
		orders: ["name", "inherent_risk_score", "residual_risk_score"],
		filters: [
			"treatment",
			"category",
			"owner_id",
			"inherent_likelihood",
			"inherent_impact",
			"residual_likelihood",
			"residual_impact",
		],
		otherFilters: [
			"min_inherent_risk_score",
			"max_inherent_risk_score",
			"min_residual_risk_score",
			"max_residual_risk_score",
		],
		searched: ["name", "description", "category", "note"],
	},
	{
		kind: "measure",
		one: "Measure",
		many: "Measures",
		key: "measure",
		keys: "measures",
		table: "measures",
		fields: {
			name: "name",
			description: "text?",
			category: "name",
			state: ["NOT_STARTED", "IN_PROGRESS", "IMPLEMENTED", "NOT_APPLICABLE"],
			owner_id: "people?",
			verified_by_check: "check?",
			verified_by_percent: "percent",
		},
		required: ["name", "category"],
		defaults: {
			description: null,
			state: "NOT_STARTED",
			owner_id: null,
			verified_by_check: null,
			verified_by_percent: 100,
			is_contradicted: false,
			verification: null,
			pass_percent: null,
		},
		follows: { state: "is_contradicted" },
		orders: ["name"],
		filters: ["state", "category", "owner_id", "verified_by_check"],
		otherFilters: ["is_contradicted"],
		searched: ["name", "description", "category"],
	},
	{
		kind: "framework",
		one: "Framework",
		many: "Frameworks",
		key: "framework",
		keys: "frameworks",
		table: "frameworks",
		fields: { name: "name", description: "text?", version: "name?" },
		required: ["name"],
		defaults: { description: null, version: null },
		orders: ["name"],
		filters: [],
		searched: ["name", "description", "version"],
	},
	{
		kind: "control",
		one: "Control",
		many: "Controls",
		key: "control",
		keys: "controls",
		table: "controls",
		fields: {
			framework_id: "framework",
			section_title: "name",
			name: "name",
			description: "text?",
			status: ["INCLUDED", "EXCLUDED"],
			exclusion_justification: "text?",
			tested_by_checks: "checks?",
		},
		required: ["framework_id", "section_title", "name"],
		defaults: {
			description: null,
			status: "INCLUDED",
			exclusion_justification: null,
			tested_by_checks: null,
			checks: [],
		},
		follows: { tested_by_checks: "checks" },
		orders: ["name", "section_title"],
		filters: ["framework_id", "status"],
		searched: [
			"section_title",
			"name",
			"description",
			"exclusion_justification",
		],
	},
	{
		kind: "vendor",
		one: "Vendor",
		many: "Vendors",
		key: "vendor",
		keys: "vendors",
		table: "vendors",
		fields: {
			name: "name",
			description: "text?",
			category: [
				"ANALYTICS",
				"CLOUD_MONITORING",
				"CLOUD_PROVIDER",
				"COLLABORATION",
				"CUSTOMER_SUPPORT",
				"DATA_STORAGE_AND_PROCESSING",
				"DOCUMENT_MANAGEMENT",
				"EMPLOYEE_MANAGEMENT",
				"ENGINEERING",
				"FINANCE",
				"IDENTITY_PROVIDER",
				"IT",
				"MARKETING",
				"OFFICE_OPERATIONS",
				"OTHER",
				"PASSWORD_MANAGEMENT",
				"PRODUCT_AND_DESIGN",
				"PROFESSIONAL_SERVICES",
				"RECRUITING",
				"SALES",
				"SECURITY",
				"VERSION_CONTROL",
			],
			legal_name: "name?",
			website_url: "url?",
			privacy_policy_url: "url?",
			dpa_url: "url?",
			security_page_url: "url?",
			status_page_url: "url?",
			certifications: "names",
			countries: "countries",
			owner_id: "people?",
		},
		required: ["name"],
		defaults: {
			description: null,
			category: "OTHER",
			legal_name: null,
			website_url: null,
			privacy_policy_url: null,
			dpa_url: null,
			security_page_url: null,
			status_page_url: null,
			certifications: [],
			countries: [],
			owner_id: null,
		},
		orders: ["name"],
		filters: ["category", "owner_id"],
		otherFilters: ["used_by"],
		searched: ["name", "description", "legal_name", "website_url"],
	},
	{
		kind: "people",
		one: "People",
		many: "People",
		key: "people",
		keys: "people",
		table: "people",
		fields: {
			full_name: "name",
			primary_email_address: "email",
			additional_email_addresses: "emails",
			kind: ["EMPLOYEE", "CONTRACTOR", "SERVICE_ACCOUNT"],
			position: "name?",
			contract_start_date: "start date?",
			contract_end_date: "end date?",
		},
		required: ["full_name", "primary_email_address", "kind"],
		defaults: {
			additional_email_addresses: [],
			position: null,
			contract_start_date: null,
			contract_end_date: null,
		},
		orders: ["full_name", "primary_email_address"],
		filters: ["kind"],
		otherFilters: ["exclude_contract_ended"],
		searched: ["full_name", "primary_email_address", "position"],
	},
	{
		kind: "nonconformity",
		one: "Nonconformity",
		many: "Nonconformities",
		key: "nonconformity",
		keys: "nonconformities",
		table: "nonconformities",
		fields: {
			reference_id: "reference id",
			title: "name?",
			description: "text?",
			audit_id: "audit?",
			date_identified: "start date?",
			root_cause: "text?",
			corrective_action: "text?",
			owner_id: "people?",
			due_date: "end date?",
			status: ["OPEN", "IN_PROGRESS", "CLOSED"],
			effectiveness_check: "text?",
			severity: ["MINOR", "MAJOR"],
		},
		required: [],
		defaults: {
			reference_id: "NC-001",
			title: null,
			description: null,
			audit_id: null,
			date_identified: null,
			root_cause: null,
			corrective_action: null,
			owner_id: null,
			due_date: null,
			status: "OPEN",
			effectiveness_check: null,
			severity: "MINOR",
		},
		orders: ["reference_id", "due_date"],
		filters: ["status", "severity", "owner_id", "audit_id"],
		searched: [
			"reference_id",
			"title",
			"description",
			"root_cause",
			"corrective_action",
			"effectiveness_check",
		],
	},
	{
		kind: "obligation",
		one: "Obligation",
		many: "Obligations",
		key: "obligation",
		keys: "obligations",
		table: "obligations",
		fields: {
			source: "name?",
			area: "name?",
			requirement: "required text",
			actions_to_be_implemented: "text?",
			regulator: "name?",
			type: ["LEGAL", "CONTRACTUAL"],
			owner_id: "people?",
			last_review_date: "start date?",
			due_date: "end date?",
			status: ["NON_COMPLIANT", "PARTIALLY_COMPLIANT", "COMPLIANT"],
		},
		required: ["requirement"],
		defaults: {
			source: null,
			area: null,
			actions_to_be_implemented: null,
			regulator: null,
			type: "LEGAL",
			owner_id: null,
			last_review_date: null,
			due_date: null,
			status: "NON_COMPLIANT",
		},
		orders: ["requirement", "due_date"],
		filters: ["status", "type", "owner_id"],
		searched: [
			"source",
			"area",
			"requirement",
			"actions_to_be_implemented",
			"regulator",
		],
	},
	{
		kind: "audit",
		one: "Audit",
		many: "Audits",
		key: "audit",
		keys: "audits",
		table: "audits",
		fields: {
			framework_id: "framework",
			name: "name?",
			valid_from: "start date?",
			valid_until: "end date?",
			state: [
				"NOT_STARTED",
				"IN_PROGRESS",
				"COMPLETED",
				"REJECTED",
				"OUTDATED",
			],
		},
		required: ["framework_id"],
		defaults: {
			name: null,
			valid_from: null,
			valid_until: null,
			state: "NOT_STARTED",
		},
		orders: ["valid_from", "valid_until"],
		filters: ["framework_id", "state"],
		searched: ["name"],
	},
	{
		kind: "asset",
		one: "Asset",
		many: "Assets",
		key: "asset",
		keys: "assets",
		table: "assets",
		fields: {
			name: "name",
			amount: "amount",
			owner_id: "people?",
			asset_type: ["PHYSICAL", "VIRTUAL"],
			data_types_stored: "text?",
			vendor_ids: "vendors",
		},
		required: ["name", "asset_type"],
		defaults: {
			amount: 1,
			owner_id: null,
			data_types_stored: null,
			vendor_ids: [],
		},
		orders: ["name", "amount"],
		filters: ["asset_type", "owner_id"],
		searched: ["name", "data_types_stored"],
	},
	{
		kind: "datum",
		one: "Datum",
		many: "Data",
		key: "datum",
		keys: "data",
		table: "data",
		fields: {
			name: "name",
			data_classification: ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "SECRET"],
			owner_id: "people?",
			vendor_ids: "vendors",
		},
		required: ["name", "data_classification"],
		defaults: { owner_id: null, vendor_ids: [] },
		orders: ["name"],
		filters: ["data_classification", "owner_id"],
		searched: ["name"],
	},
	{
		kind: "task",
		one: "Task",
		many: "Tasks",
		key: "task",
		keys: "tasks",
		table: "tasks",
		fields: {
			name: "name",
			description: "text?",
			state: ["TODO", "IN_PROGRESS", "DONE"],
			priority: ["URGENT", "HIGH", "MEDIUM", "LOW"],
			measure_id: "measure?",
			assigned_to_id: "people?",
			deadline: "end date?",
		},
		required: ["name"],
		defaults: {
			description: null,
			state: "TODO",
			priority: "MEDIUM",
			measure_id: null,
			assigned_to_id: null,
			deadline: null,
		},
		orders: ["name", "deadline"],
		filters: ["state", "priority", "measure_id", "assigned_to_id"],
		searched: ["name", "description"],
	},
	{
		kind: "continual_improvement",
		one: "ContinualImprovement",
		many: "ContinualImprovements",
		key: "continual_improvement",
		keys: "continual_improvements",
		table: "continual_improvements",
		fields: {
			reference_id: "reference id",
			description: "text?",
			source: "name?",
			owner_id: "people?",
			target_date: "end date?",
			status: ["OPEN", "IN_PROGRESS", "CLOSED"],
			priority: ["LOW", "MEDIUM", "HIGH"],
		},
		required: [],
		defaults: {
			reference_id: "CI-001",
			description: null,
			source: null,
			owner_id: null,
			target_date: null,
			status: "OPEN",
			priority: "MEDIUM",
		},
		orders: ["reference_id", "target_date"],
		filters: ["status", "priority", "owner_id"],
		searched: ["reference_id", "description", "source"],
	},
];

import type { LayoutsOf } from "../register-layouts.ts";

export const inventory: LayoutsOf<"Inventory"> = {
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
};

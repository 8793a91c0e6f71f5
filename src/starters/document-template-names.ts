/** The templates of documents, in the order in which they are offered. Each has a file in documents/. */
export const DOCUMENT_TEMPLATES = {
	"information-security": "Information security policy",
	"acceptable-use": "Acceptable use policy",
	"access-control": "Access control policy",
	"incident-response": "Incident response policy",
	backup: "Backup policy",
	"vendor-management": "Vendor management policy",
	"remote-work": "Remote work policy",
	"secure-development": "Secure development policy",
	cryptography: "Cryptography policy",
	"business-continuity": "Business continuity policy",
	"data-protection": "Data protection policy",
	"risk-management": "Risk management policy",
} as const;
export type DocumentTemplate = keyof typeof DOCUMENT_TEMPLATES;

export const DOCUMENT_TEMPLATE_KEYS = Object.keys(DOCUMENT_TEMPLATES) as [
	DocumentTemplate,
	...DocumentTemplate[],
];

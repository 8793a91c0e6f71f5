import {
	type Icon,
	IconAlertTriangle,
	IconBuildingStore,
	IconChecklist,
	IconClipboardCheck,
	IconDatabase,
	IconFileCertificate,
	IconGavel,
	IconPackage,
	IconReportSearch,
	IconShieldCheck,
	IconStack2,
	IconTrendingUp,
	IconUsers,
} from "@tabler/icons-react";

/** The registers in the order in which the navigation shows them. */
export const registerKinds = [
	{ kind: "risk", label: "Risks", icon: IconAlertTriangle },
	{ kind: "measure", label: "Measures", icon: IconShieldCheck },
	{ kind: "framework", label: "Frameworks", icon: IconStack2 },
	{ kind: "control", label: "Controls", icon: IconChecklist },
	{ kind: "vendor", label: "Vendors", icon: IconBuildingStore },
	{ kind: "people", label: "People", icon: IconUsers },
	{ kind: "nonconformity", label: "Nonconformities", icon: IconReportSearch },
	{ kind: "obligation", label: "Obligations", icon: IconGavel },
	{ kind: "audit", label: "Audits", icon: IconFileCertificate },
	{ kind: "asset", label: "Assets", icon: IconPackage },
	{ kind: "datum", label: "Data", icon: IconDatabase },
	{ kind: "task", label: "Tasks", icon: IconClipboardCheck },
	{
		kind: "continual_improvement",
		label: "Continual improvements",
		icon: IconTrendingUp,
	},
] as const satisfies { kind: string; label: string; icon: Icon }[];

export type RegisterKind = (typeof registerKinds)[number]["kind"];

export function findRegisterKind(kind: string) {
	return registerKinds.find((known) => known.kind === kind);
}

import type { Employee } from "./people.ts";

export interface DemoVendor {
	key: string;
	name: string;
	legal_name?: string;
	category: string;
	description: string;
	website_url: string;
	status_page_url?: string;
	certifications: string[];
	countries: string[];
	owner: Employee;
}

/** Typical vendors of a company of this kind. Each has the category of its product. */
export const VENDORS: readonly DemoVendor[] = [
	{
		key: "aws",
		name: "Amazon Web Services",
		legal_name: "Amazon Web Services EMEA SARL",
		category: "CLOUD_PROVIDER",
		description:
			"Runs production and staging in eu-central-1, with backups in eu-west-1. Everything that hotels and guests enter is kept here.",
		website_url: "https://aws.amazon.com",
		status_page_url: "https://health.aws.amazon.com/health/status",
		certifications: ["ISO 27001", "SOC 2 Type II", "PCI DSS"],
		countries: ["DE", "IE"],
		owner: "mei",
	},
	{
		key: "hetzner",
		name: "Hetzner",
		legal_name: "Hetzner Online GmbH",
		category: "CLOUD_PROVIDER",
		description:
			"Storage servers for the encrypted off-site copy of the database backups. Holds no keys.",
		website_url: "https://www.hetzner.com",
		status_page_url: "https://status.hetzner.com",
		certifications: ["ISO 27001"],
		countries: ["DE", "FI"],
		owner: "mei",
	},
	{
		key: "cloudflare",
		name: "Cloudflare",
		legal_name: "Cloudflare, Inc.",
		category: "SECURITY",
		description:
			"DNS, content delivery and protection against denial of service in front of the booking pages.",
		website_url: "https://www.cloudflare.com",
		status_page_url: "https://www.cloudflarestatus.com",
		certifications: ["ISO 27001", "SOC 2 Type II", "PCI DSS"],
		countries: ["DE", "NL", "US"],
		owner: "mei",
	},
	{
		key: "github",
		name: "GitHub",
		legal_name: "GitHub, Inc.",
		category: "VERSION_CONTROL",
		description:
			"Source code, reviews and the pipelines that build and release the service. No personal data of guests.",
		website_url: "https://github.com",
		status_page_url: "https://www.githubstatus.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["US"],
		owner: "tomas",
	},
	{
		key: "google",
		name: "Google Workspace",
		legal_name: "Google Cloud EMEA Limited",
		category: "COLLABORATION",
		description:
			"Mail, calendar and shared documents of all staff; also the directory that other services sign in with.",
		website_url: "https://workspace.google.com",
		status_page_url: "https://www.google.com/appsstatus",
		certifications: ["ISO 27001", "ISO 27701", "SOC 2 Type II"],
		countries: ["IE"],
		owner: "omar",
	},
	{
		key: "okta",
		name: "Okta",
		legal_name: "Okta, Inc.",
		category: "IDENTITY_PROVIDER",
		description:
			"Single sign-on with a second factor for the admin tools of the service and for 23 other applications.",
		website_url: "https://www.okta.com",
		status_page_url: "https://status.okta.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE", "IE"],
		owner: "omar",
	},
	{
		key: "1password",
		name: "1Password",
		legal_name: "AgileBits Inc.",
		category: "PASSWORD_MANAGEMENT",
		description:
			"Passwords and recovery codes of all staff, and the secrets that are not in the cloud provider's store.",
		website_url: "https://1password.com",
		status_page_url: "https://status.1password.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["CA", "DE"],
		owner: "omar",
	},
	{
		key: "stripe",
		name: "Stripe",
		legal_name: "Stripe Payments Europe, Limited",
		category: "FINANCE",
		description:
			"Takes the card payments of guests and pays hotels out. Card numbers never reach our own systems.",
		website_url: "https://stripe.com",
		status_page_url: "https://status.stripe.com",
		certifications: ["PCI DSS", "SOC 2 Type II"],
		countries: ["IE"],
		owner: "ines",
	},
	{
		key: "datadog",
		name: "Datadog",
		legal_name: "Datadog, Inc.",
		category: "CLOUD_MONITORING",
		description:
			"Metrics, traces and logs of production, kept for 30 days in the European site. Logs are cleaned of guest data before they leave.",
		website_url: "https://www.datadoghq.com",
		status_page_url: "https://status.datadoghq.eu",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE"],
		owner: "marek",
	},
	{
		key: "sentry",
		name: "Sentry",
		legal_name: "Functional Software, Inc.",
		category: "ENGINEERING",
		description:
			"Collects errors of the booking pages and the apps. Request bodies are not sent.",
		website_url: "https://sentry.io",
		status_page_url: "https://status.sentry.io",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE"],
		owner: "sofia",
	},
	{
		key: "zendesk",
		name: "Zendesk",
		legal_name: "Zendesk, Inc.",
		category: "CUSTOMER_SUPPORT",
		description:
			"Tickets and phone calls of hotels. Tickets may hold names and booking numbers of guests.",
		website_url: "https://www.zendesk.com",
		status_page_url: "https://status.zendesk.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["IE", "DE"],
		owner: "noah",
	},
	{
		key: "slack",
		name: "Slack",
		legal_name: "Slack Technologies Limited",
		category: "COLLABORATION",
		description:
			"Day-to-day chat of all teams and the channel in which incidents are handled.",
		website_url: "https://slack.com",
		status_page_url: "https://slack-status.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE", "US"],
		owner: "omar",
	},
	{
		key: "personio",
		name: "Personio",
		legal_name: "Personio SE & Co. KG",
		category: "EMPLOYEE_MANAGEMENT",
		description:
			"Contracts, absences and payroll preparation of all employees.",
		website_url: "https://www.personio.com",
		certifications: ["ISO 27001"],
		countries: ["DE"],
		owner: "priya",
	},
	{
		key: "greenhouse",
		name: "Greenhouse",
		legal_name: "Greenhouse Software, Inc.",
		category: "RECRUITING",
		description:
			"Applications and interview notes, deleted six months after a position is filled.",
		website_url: "https://www.greenhouse.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE"],
		owner: "priya",
	},
	{
		key: "hubspot",
		name: "HubSpot",
		legal_name: "HubSpot Ireland Limited",
		category: "SALES",
		description:
			"Contacts at hotels that are or may become customers, and the newsletter.",
		website_url: "https://www.hubspot.com",
		status_page_url: "https://status.hubspot.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE"],
		owner: "liam",
	},
	{
		key: "figma",
		name: "Figma",
		legal_name: "Figma, Inc.",
		category: "PRODUCT_AND_DESIGN",
		description: "Designs and prototypes. No personal data.",
		website_url: "https://www.figma.com",
		status_page_url: "https://status.figma.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["US"],
		owner: "hannah",
	},
	{
		key: "snowflake",
		name: "Snowflake",
		legal_name: "Snowflake Inc.",
		category: "DATA_STORAGE_AND_PROCESSING",
		description:
			"Reporting for hotels, on bookings without names and contact details of guests.",
		website_url: "https://www.snowflake.com",
		status_page_url: "https://status.snowflake.com",
		certifications: ["ISO 27001", "SOC 2 Type II"],
		countries: ["DE"],
		owner: "samuel",
	},
	{
		key: "plausible",
		name: "Plausible Analytics",
		legal_name: "Plausible Insights OÜ",
		category: "ANALYTICS",
		description:
			"Counts visits of the company's website without cookies and without identifying visitors.",
		website_url: "https://plausible.io",
		certifications: [],
		countries: ["DE", "EE"],
		owner: "grace",
	},
];

/** What stands around the content of a PDF or a Word document. */
export interface PageFrame {
	title: string;
	/** Shown at the top of every page, such as the organization. */
	head: string;
	/** Shown at the bottom of every page, beside its number. */
	foot: string;
	/** True if the pages of a PDF lie. */
	isLandscape?: boolean;
}

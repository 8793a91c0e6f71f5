/** The media query of screens on which the navigation is a drawer and filters are folded. */
export const NARROW = "(max-width: 47.99em)";

"""Edit distance, for word and character error rates."""


def distance(expected, recognized):
    """Substitutions, insertions and deletions between two sequences."""
    row = list(range(len(recognized) + 1))
    for number, wanted in enumerate(expected, 1):
        diagonal, row[0] = row[0], number
        for column, got in enumerate(recognized, 1):
            diagonal, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, diagonal + (wanted != got))
    return row[-1]


def rates(pairs):
    """Word and character error rate over pairs of expected and recognized text."""
    pairs = list(pairs)
    words = sum(distance(expected.split(), recognized.split()) for expected, recognized in pairs)
    letters = sum(distance(expected, recognized) for expected, recognized in pairs)
    return words / sum(len(expected.split()) for expected, _ in pairs), letters / sum(len(expected) for expected, _ in pairs)

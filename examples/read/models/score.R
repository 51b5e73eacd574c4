# Predict the rows of a CSV file by a model of a release, without dprelease:
#
#   Rscript score.R risk.json stays.csv > predicted.csv
#
# R itself reads no JSON, so this needs the package jsonlite and nothing else. A value that is in no category of the
# model stops it: nothing is guessed.
number <- function(kind, text) {
  if (kind == "date") return(as.numeric(as.Date(text, format = "%Y-%m-%d")))
  if (kind == "timestamp") {
    text <- paste0(chartr("T", " ", text), ifelse(nchar(text) == 16, ":00", ""))
    return(as.numeric(as.POSIXct(text, tz = "UTC", format = "%Y-%m-%d %H:%M:%OS")))
  }
  suppressWarnings(as.numeric(text))
}

# The index of the category of each row, by its name or by the value that it is made of.
category <- function(column, rows) {
  codes <- unlist(column$categories)
  at <- if (is.null(rows[[column$name]])) rep(NA, nrow(rows)) else match(rows[[column$name]], codes)
  values <- column$values
  text <- if (is.null(values)) NULL else rows[[values$column]]
  if (!is.null(text)) {
    if (!is.null(values$missing)) at[is.na(at) & text == ""] <- match(values$missing, codes)
    if (!is.null(values$of)) {
      found <- rep(seq_along(values$of), lengths(values$of))[match(text, unlist(values$of))]
    } else if (!is.null(values$least)) {
      x <- number(values$type, text)
      found <- findInterval(x, number(values$type, unlist(values$least)))
      found[found == 0 | x > number(values$type, values$most) | values$type == "integer" & x %% 1 != 0] <- NA
    } else found <- NA
    at <- ifelse(is.na(at), found, at)
  }
  if (anyNA(at)) stop(sprintf("row %d: column %s is in no category of the model", which(is.na(at))[1], column$name))
  at
}

# A regression as an additive model: its weights are scores. A number has one, and no categories.
additive <- function(regression) {
  weights <- vapply(regression$terms, function(term) as.numeric(term$weight), 0)
  used <- 1
  for (i in seq_along(regression$columns)) {
    n <- max(length(regression$columns[[i]]$categories), 1)
    regression$columns[[i]]$scores <- weights[used + seq_len(n)]
    used <- used + n
  }
  list(intercept = weights[1], link = if (regression$method == "logistic") "logit" else "identity", least = -Inf,
       most = Inf, columns = regression$columns)
}

predict_rows <- function(model, rows) {
  score <- rep(model$intercept, nrow(rows))
  codes <- list()
  for (column in model$columns) {
    at <- codes[[column$name]] <- category(column, rows)
    added <- unlist(column$scores)[at]
    score <- score + if (is.null(column$categories)) added * number("integer", rows[[column$name]]) else added
  }
  for (pair in model$pairs) {
    scores <- do.call(rbind, lapply(pair$scores, unlist))
    score <- score + scores[cbind(codes[[pair$columns[[1]]]], codes[[pair$columns[[2]]]])]
  }
  mean <- switch(model$link, logit = 1 / (1 + exp(-score)), log = exp(score), identity = score)
  pmin(pmax(mean, model$least), model$most)
}

files <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(files[2], colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8")
model <- jsonlite::read_json(files[1])
rows$prediction <- predict_rows(if (is.null(model$method)) model else additive(model), rows)
rows$prediction <- format(rows$prediction, digits = 17, trim = TRUE)
write.csv(rows, row.names = FALSE)

import pandas as pd
import workflow as wf
from workflow import profiling

@wf.task(name="preprocess_data")
@profiling.collect()
def preprocess(data_path: str) -> pd.DataFrame:
    df = pd.read_csv(data_path)
    return df.dropna().astype("float32")

@wf.task
def train(seed: int, data, epochs: int) -> float:
    return data.sample(frac=0.5, random_state=seed).mean().sum() * epochs

@wf.task
def best(scores: list) -> float:
    return max(scores)

@wf.workflow(name="training")
def training(path: str, epochs: int = 3):
    data = preprocess(path)                                  # a future inside a workflow
    return best(train.map([1, 2, 3], data=data, epochs=epochs))   # iterables by position (zipped), constants by keyword

if __name__ == "__main__":
    run = training.run("data.csv")      # waits; raises the first task error; run.result() is what the body returned
    print(run.id, run.result())
